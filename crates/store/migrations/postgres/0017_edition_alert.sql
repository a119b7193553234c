-- Nothing is carried over: what lasts is found again within seconds.
-- contract from 0016
drop table edition_alert;
