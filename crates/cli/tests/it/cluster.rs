//! Several nodes on one PostgreSQL: what one of them suffers, and what the server does.

mod alone;
mod failover;
mod limits;
mod tls;
