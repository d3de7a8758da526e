/** Runs one scenario over gRPC and over REST, each on its own server. A difference is a defect of the local REST. */

/** A call of a generated client, and its request. */
export type Step = readonly [call: string, request: object];

type Caller = Readonly<Record<string, (request: object) => Promise<readonly unknown[]>>>;

/** Values that the servers generate at random. */
const DRAWN = /^(messageId|messageIds|ackId|revisionId|etag|nextPageToken)$/;

/** Outcomes by step: the response or the error code. @param clients the first one with the method makes the call */
export async function outcomesOf(steps: readonly Step[], clients: readonly object[]): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const [call, request] of steps) {
    const caller = clients.find((client) => call in client) as Caller | undefined;
    if (!caller) throw new Error(`no client has ${call}`);
    const outcome = await caller[call]?.(request).then(
      ([response]) => plain(response),
      (error: { code?: unknown }) => ({ refused: error.code }),
    );
    outcomes.push([call, outcome]);
  }
  return outcomes;
}

/** Removes differences of format: unset members, integers as text, names of enums. */
function plain(response: unknown): unknown {
  const text = JSON.stringify(response, (key, value: unknown) => {
    if (DRAWN.test(key) && value) return '*';
    if (typeof value === 'string' && /^-?\d+$/.test(value)) return Number(value);
    const isUnset = value === null || value === '' || value === 0 || value === false;
    if (isUnset || (typeof value === 'object' && Object.keys(value).length === 0)) return undefined;
    return value;
  });
  return text === undefined ? undefined : JSON.parse(text);
}
