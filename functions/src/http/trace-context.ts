/** The caller's trace, so that a run appears in it. */

/** Trace id of a W3C `traceparent` header (32 hex digits); undefined if there is none or it is not valid. */
export function traceIdOf(headers: Headers): string | undefined {
  const [, traceId] =
    /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(
      headers.get('traceparent') ?? '',
    ) ?? [];
  return traceId;
}
