/** Every flow at every size, by the mouse and by the keyboard. A page is used for all flows: to open one takes more processor time than a flow. */
import { test } from '@jest/globals';
import { OVER_A_RUN } from '../flows/one-run.ts';
import { OVER_RUNS } from '../flows/runs.ts';
import { goTo } from '../support/browser.ts';
import { HANDS } from '../support/hands.ts';
import { SIZES } from '../support/sizes.ts';
import { show, stage } from './showcase-stage.ts';

/** A zoom of 200 % halves the page and draws each of its pixels as two by two. */
const SCALE = { desktop: 1, phone: 1, zoomed: 2 } as const;

const ways = (['desktop', 'phone', 'zoomed'] as const).flatMap((size) =>
  HANDS.map((hand) => ({ size, by: hand.name, hand })),
);

test.each(ways)('$size, by $by: every flow is gone', async ({ size, hand }) => {
  const page = await stage.browser.open('/schedules', {
    viewport: SIZES[size],
    deviceScaleFactor: SCALE[size],
    // Parts that are pressed may move, as they do for most people.
    reducedMotion: 'no-preference',
  });
  for (const { name, path, run } of [...OVER_RUNS, ...OVER_A_RUN]) {
    // Another page takes away whatever the flow before has left open.
    await goTo(page, '/schedules');
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor();
    await goTo(page, path(show));
    try {
      await run({ page, hand, show, call: stage.cloud.call, go: (to) => goTo(page, to) });
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }
});
