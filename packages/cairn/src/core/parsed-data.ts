/** Checks a value with the schema of an author. */
import type { Issue } from './first-issue.ts';
import { messageOf, readableThrown } from './thrown.ts';

/** The used part of a schema. */
interface Schema<T> {
  safeParse(
    data: unknown,
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
    return { issues: [{ path: [], message: messageOf(thrown) }], thrown };
  }
}
