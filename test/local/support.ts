/** Helpers for tests of local servers: wait for a condition, and inspect a refusal. */

/** Longer than anything takes on a busy machine, and shorter than the timeout of a test. */
const PATIENCE_MS = 120_000;

/** Polls every few milliseconds until `condition` holds; fails after `withinMs`. */
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
