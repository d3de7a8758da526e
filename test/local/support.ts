/** Helpers for tests of local servers: wait for a condition, and inspect a refusal. */

/** Far more than anything takes on a busy machine; less than a test may take. */
const PATIENCE_MS = 120_000;

/** Looks again every few milliseconds until `condition` holds; fails after `withinMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** gRPC status code of a call that must fail, with its message. */
export async function refusal(call: Promise<unknown>): Promise<{ code: number; details: string }> {
  try {
    await call;
  } catch (error) {
    const { code, details } = error as { code: number; details: string };
    return { code, details };
  }
  throw new Error('the call was accepted');
}
