/**
 * Why a call failed, and whether the same call can succeed later. No message contains a token, a
 * payload or the query of an address.
 */

/** A call failed. */
export class AlmanackError extends Error {
  /** Whether the same call can succeed later without anyone changing anything. */
  readonly transient: boolean = false;
  override name = "AlmanackError";
}

/** No answer, or a broken one. */
export class Unreachable extends AlmanackError {
  override readonly transient = true;
  override name = "Unreachable";

  constructor(cause: unknown) {
    const timedOut = cause instanceof Error && cause.name === "TimeoutError";
    super(`no answer from the node${timedOut ? " in time" : ""}`);
  }
}

const passing = (status: number) => status === 429 || (status >= 502 && status <= 504);

/** Something answered that is no node of Almanack. */
export class Unexpected extends AlmanackError {
  // A proxy says so while the node behind it restarts.
  override readonly transient: boolean;
  override name = "Unexpected";

  constructor(readonly status: number) {
    super(`HTTP ${status} with an answer that is not Almanack's; is this the node's address?`);
    this.transient = passing(status);
  }
}

/** A problem document. */
export interface Problem {
  status: number;
  code: string;
  title: string;
  detail: string;
  path?: string;
  hint?: string;
  expression?: { message: string; hint?: string; repaired?: string };
  known_kinds?: string[];
  scope?: string;
}

/** The node refused: a stable code for programs, a sentence for people. */
export class Refused extends AlmanackError {
  override readonly transient: boolean;
  override name = "Refused";
  readonly status: number;
  /** Never changes its meaning: `unknown_kind`, `no_such_task`. */
  readonly code: string;
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(readonly problem: Problem) {
    const hint = hintOf(problem);
    super(`${problem.detail} (${problem.code})${hint ? `; ${hint}` : ""}`);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    this.hint = hint;
    this.transient = passing(problem.status) || problem.code === "contended";
  }
}

function hintOf(problem: Problem): string | undefined {
  const hint = problem.hint ?? problem.expression?.hint;
  if (hint) return hint;
  if (problem.known_kinds?.length) return `known kinds: ${problem.known_kinds.join(", ")}`;
  if (problem.scope) return `use a token with scope \`${problem.scope}\``;
  if (problem.code === "unauthenticated") return "give the client a token: `almanack token create NAME`";
  return undefined;
}
