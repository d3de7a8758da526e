/** Starts the Chromium of this machine through playwright-core, for measurements and tests. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  process.env.CHROMIUM,
  // Draws the same pages without the windows of a browser, and takes a quarter less processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

interface ChromiumOptions {
  /** Flags of its command line. */
  readonly flags?: readonly string[];
  /** True for scrollbars that take room of the page, as on a desktop. Without a window they are hidden. */
  readonly hasScrollbars?: boolean;
}

/** @throws Error with advice if there is none, so that no test is skipped silently */
export async function launchChromium({
  flags = [],
  hasScrollbars = false,
}: ChromiumOptions = {}): Promise<Browser> {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath) {
    throw new Error(
      'no Chromium: the console is measured and tested in one (Debian: `apt-get install chromium-headless-shell`; or name one in CHROMIUM)',
    );
  }
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...flags],
    ignoreDefaultArgs: hasScrollbars ? ['--hide-scrollbars'] : [],
  });
}
