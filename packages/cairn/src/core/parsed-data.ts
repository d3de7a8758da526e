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

/** The data that the author's schema returns, or its issues. */
export function parsedData<T>(
  schema: Schema<T>,
  data: unknown,
): { readonly data: T } | { readonly issues: readonly Issue[] } {
  try {
    const parsed = schema.safeParse(data);
    return parsed.success ? { data: parsed.data } : { issues: parsed.error.issues };
  } catch (thrown) {
    // A function within the author's schema threw, or the schema is asynchronous: the data is refused as well.
    return { issues: [{ path: [], message: messageOf(readableThrown(thrown)) }] };
  }
}
