/** Stage of a browser test file: a local cloud and a Chromium for all its tests. */
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { startBrowser, type TestBrowser } from './browser.ts';
import { type CloudOptions, type ConsoleCloud, startConsoleCloud } from './cloud.ts';

export interface Stage {
  readonly cloud: ConsoleCloud;
  readonly browser: TestBrowser;
}

type Options = CloudOptions | (() => Promise<CloudOptions>);

/**
 * Call it once, where the tests are defined. `cloud` and `browser` exist after `beforeAll`.
 *
 * @param pagesLast keeps pages open from test to test
 */
export function setStage(options: Options = {}, { pagesLast = false } = {}): Stage {
  const stage = {} as { -readonly [K in keyof Stage]: Stage[K] };
  beforeAll(async () => {
    stage.cloud = await startConsoleCloud(typeof options === 'function' ? await options() : options);
    stage.browser = await startBrowser(stage.cloud.ready.gateway);
  });
  // A page that broke a rule fails the test that opened it.
  afterEach(() => (pagesLast ? stage.browser.check() : stage.browser.settle()));
  afterAll(async () => {
    await stage.browser?.close();
    await stage.cloud?.stop();
  });
  return stage;
}
