/** The Chromium of this machine, driven through playwright-core: for what is measured and for what is tested. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/**
 * Features that are switched off. Chromium takes the last `--disable-features` alone, so Playwright's own are repeated
 * here; `test/console/chromium.test.ts` compares them.
 */
export const DISABLED_FEATURES: readonly string[] = [
  // The pop-ups of the address bar, which no page uses: each context loads both, in a process of their own, for 0.7 s of CPU.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // Playwright's.
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'msForceBrowserSignIn',
  'msEdgeUpdateLaunchServicesPreferredVersion',
];

/** @throws if there is none, with how to get one: nothing that needs it is passed over */
export async function launchChromium(): Promise<Browser> {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath) {
    throw new Error(
      'no Chromium: the console is measured and tested in one (Debian: `apt-get install chromium`; or name one in CHROMIUM)',
    );
  }
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', `--disable-features=${DISABLED_FEATURES.join()}`],
  });
}
