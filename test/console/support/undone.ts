/** Removes what a test has added to a page, so that the next test can reuse the page. */
import type { Page } from 'playwright-core';

type Listener = [event: string, listener: (given: unknown) => void];

/**
 * Records the scripts and listeners that are added to the page.
 *
 * @returns a function that removes them. It throws if the page has a fake clock, which cannot be removed
 */
export function noteAdditions(page: Page): () => Promise<void> {
  const scripts: { dispose(): Promise<void> }[] = [];
  const listeners: Listener[] = [];
  const { clock } = page.context();
  const real = {
    addInitScript: page.addInitScript.bind(page),
    on: page.on.bind(page) as (...listener: Listener) => Page,
  };
  let hasClock = false;
  Object.assign(page, {
    async addInitScript(...given: Parameters<typeof real.addInitScript>) {
      const script = await real.addInitScript(...given);
      scripts.push(script);
      return script;
    },
    on(...listener: Listener) {
      listeners.push(listener);
      return real.on(...listener);
    },
  });
  for (const name of ['install', 'pauseAt', 'setFixedTime', 'setSystemTime'] as const) {
    const set = clock[name].bind(clock) as (given: unknown) => Promise<void>;
    Object.assign(clock, {
      [name](given: unknown) {
        hasClock = true;
        return set(given);
      },
    });
  }
  return async () => {
    if (hasClock) throw new Error('the page has a clock of its own');
    for (const [event, listener] of listeners.splice(0)) page.removeListener(event as 'request', listener);
    for (const script of scripts.splice(0)) await script.dispose();
  };
}
