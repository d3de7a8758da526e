/**
 * Every flow at every size, by mouse or keyboard, and with both over all sizes. `EVERY_FLOW=1` runs both at each size.
 * All flows of a hand share one page, because opening a page takes more processor time than a flow. Both hands run in
 * parallel, because a flow mostly waits.
 */
import { test } from '@jest/globals';
import { OVER_A_RUN } from '../flows/one-run.ts';
import { OVER_RUNS } from '../flows/runs.ts';
import { goTo } from '../support/browser.ts';
import { HANDS, type Hand } from '../support/hands.ts';
import { SIZES } from '../support/sizes.ts';
import { show, stage } from './showcase-stage.ts';

/** A zoom of 200 % halves the page and draws each of its pixels as two by two. */
const SCALE = { desktop: 1, phone: 1, zoomed: 2 } as const;

/** A page that no flow changes. */
const BETWEEN = '/schedules';

const FLOWS = [...OVER_RUNS, ...OVER_A_RUN];
const GOES_ALL = process.env.EVERY_FLOW === '1';

test.each(['desktop', 'phone', 'zoomed'] as const)(
  '%s: every flow succeeds, by mouse or by keyboard',
  async (size) => {
    await Promise.all(HANDS.map((hand) => goEach(size, hand)));
  },
);

/** Alternates the flows between the hands, and swaps the hands from one size to the next. */
function flowsOf(size: keyof typeof SIZES, hand: Hand) {
  const offset = Object.keys(SIZES).indexOf(size) + HANDS.indexOf(hand);
  return FLOWS.filter((_, index) => GOES_ALL || (index + offset) % HANDS.length === 0);
}

async function goEach(size: keyof typeof SIZES, hand: Hand): Promise<void> {
  const page = await stage.browser.open(BETWEEN, {
    viewport: SIZES[size],
    deviceScaleFactor: SCALE[size],
    // Animations are on, as for most people.
    reducedMotion: 'no-preference',
  });
  for (const { name, path, run } of flowsOf(size, hand)) {
    const from = path(show);
    try {
      // Going to another page closes what the flow before left open.
      if (pageOf(from) === pageOf(new URL(page.url()).pathname)) {
        await goTo(page, BETWEEN);
        await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor();
      }
      await goTo(page, from);
      await run({ page, hand, show, call: stage.cloud.call, go: (to) => goTo(page, to) });
    } catch (error) {
      throw new Error(`${hand.name}: ${name}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** `runs` of `/runs/run_1` and of `/runs?type=order`. */
function pageOf(path: string): string | undefined {
  return /^\/(\w*)/.exec(path)?.[1];
}
