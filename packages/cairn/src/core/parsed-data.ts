/** Checks a value with the schema of an author. */
import type { Issue } from './first-issue.ts';
import { messageOf, readableThrown } from './thrown.ts';

/** The used part of a schema. */
interface Schema<T> {
  safeParse(
    data: unknown,
    options?: { readonly jitless: boolean },
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } };
}

interface Refusal {
  readonly issues: readonly Issue[];
  /** Readable; thrown by a function within the schema. Absent: none threw. */
  readonly thrown?: unknown;
}

/** The data that the author's schema returns, or its refusal. */
export function parsedData<T>(schema: Schema<T>, data: unknown): { readonly data: T } | Refusal {
  try {
    const parsed = schema.safeParse(data);
    return parsed.success ? { data: parsed.data } : { issues: parsed.error.issues };
  } catch (error) {
    // A function within the author's schema threw, or the schema is asynchronous: the data is refused as well.
    const thrown = readableThrown(error);
    if (isAsynchronous(schema, data, thrown)) return { issues: [{ path: [], message: ASYNCHRONOUS }] };
    return { issues: [{ path: [], message: messageOf(thrown) }], thrown };
  }
}

/** Identifies the error of an asynchronous schema. Its class may be of another copy of Zod, and a bundler may rename it. */
const ZOD_FOUND_A_PROMISE = 'Encountered Promise during synchronous parse';
const ASYNCHRONOUS =
  'the schema is asynchronous: move what its refinements and transforms await into a step, because values are checked synchronously';

function isAsynchronous(schema: Schema<unknown>, data: unknown, thrown: unknown): boolean {
  if (messageOf(thrown).startsWith(ZOD_FOUND_A_PROMISE)) return true;
  if ((thrown as Partial<Error> | null)?.name !== 'TypeError') return false;
  // The code that Zod compiles fails at the promise of a member with a TypeError of its own: parse again without that code.
  try {
    schema.safeParse(data, { jitless: true });
    return false;
  } catch (error) {
    return messageOf(error).startsWith(ZOD_FOUND_A_PROMISE);
  }
}
