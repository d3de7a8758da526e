/** Every flow at every size, by the mouse and by the keyboard. */
import { describe, test } from '@jest/globals';
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

describe.each([...OVER_A_RUN, ...OVER_RUNS])('$name', ({ path, run }) => {
  test.each(ways)('$size, by $by', async ({ size, hand }) => {
    const page = await stage.browser.open(path(show), {
      viewport: SIZES[size],
      deviceScaleFactor: SCALE[size],
      // Parts that are pressed may move, as they do for most people.
      reducedMotion: 'no-preference',
    });
    await run({ page, hand, show, call: stage.cloud.call, go: (to) => goTo(page, to) });
  });
});
