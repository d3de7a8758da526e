/** A call that the pretended Google answers, and how it refuses one. */
import type { Fields, Google, Json } from './model.ts';

export interface Request {
  method: string;
  url: URL;
  /** Undefined: none, or not JSON. */
  body: Json | undefined;
}

export interface Answer {
  /** Undefined: the connection ends without an answer. */
  status: number | undefined;
  headers?: Record<string, string>;
  body: Json;
}

export interface Route {
  host: string;
  method: string;
  /** Matched against the whole path. */
  path: RegExp;
  /** Permission that the caller needs. */
  needs?: string;
  answer(google: Google, groups: Record<string, string>, request: Request): Fields | Promise<Fields>;
}

/** Thrown by a route to refuse as Google does. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export const notFound = (what: string) => new Refusal(404, 'NOT_FOUND', `Resource '${what}' was not found`);

/** @throws Refusal if there is none of this name, which is called `what` */
export function existing<T>(all: Readonly<Record<string, T>>, name: string, what = name): T {
  const found = all[name];
  if (found === undefined) throw notFound(what);
  return found;
}

/** @throws Refusal if there is one of this name */
export function checkNew(all: Readonly<Record<string, unknown>>, name: string): void {
  if (all[name] !== undefined) throw new Refusal(409, 'ALREADY_EXISTS', `${name} exists already`);
}

/** @throws Refusal if there is one of this name */
export function created<T>(all: Record<string, T>, name: string, one: T): T {
  checkNew(all, name);
  all[name] = one;
  return one;
}
