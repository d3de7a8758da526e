import { describe, expect, test } from '@jest/globals';
import { explore } from '../../support/explorer.ts';
import { type EventRace, eventRace } from '../../support/race/event-race.ts';
import { EVERY_ORDER } from '../../support/race/size.ts';

const drive = (run: number) => ({ does: 'drive', run }) as const;
const cancel = (run: number) => ({ does: 'cancel', run }) as const;
const send = (eventId: string) => ({ does: 'send', eventId }) as const;

/** Time limit for a busy machine. An idle core takes ten seconds each, if everything is explored. */
const PATIENCE_MS = 240_000;

interface Shown extends EventRace {
  readonly claim: string;
  /** Every possible end: for each event, the number of runs that received it. */
  readonly ends: readonly string[];
  /** Number of states without network faults. A smaller number means that something is no longer explored. */
  readonly states: number;
  /** Replaces these members without `EVERY_ORDER=1`. */
  readonly everyday?: Pick<EventRace, 'parts' | 'crashes'>;
  /** Number of states of every order, with the lost responses. */
  readonly everyState: number;
}

/** Without `EVERY_ORDER=1` no answer is lost in these races; events-crowd.test.ts loses some, in random orders. */
const RACES: readonly Shown[] = [
  {
    claim: 'as the wait opens',
    runs: 1,
    parts: [drive(0), send('e')],
    crashes: 1,
    lostAnswers: 1,
    states: 350,
    everyState: 7500,
    ends: ['e 1'],
  },
  {
    claim: 'as the wait times out',
    runs: 1,
    before: [drive(0), 'hour'],
    parts: [drive(0), send('e')],
    crashes: 1,
    lostAnswers: 1,
    states: 750,
    everyState: 4800,
    ends: ['e 0', 'e 1'],
  },
  {
    claim: 'as the wait opens, by a deployment without the definition of the run',
    runs: 1,
    parts: [drive(0), { ...send('e'), by: 'another_deployment' }],
    withinMs: 15 * 60_000,
    states: 100,
    everyState: 100,
    ends: ['e 1'],
  },
  {
    claim: 'as the run is cancelled',
    runs: 1,
    before: [drive(0)],
    parts: [cancel(0), send('e'), drive(0)],
    // The same race with a drive is in events-crowd.test.ts, in random orders.
    everyday: { parts: [cancel(0), send('e')], crashes: 1 },
    lostAnswers: 1,
    states: 85,
    everyState: 6000,
    ends: ['e 0', 'e 1'],
  },
];

/** Races with too many orders for every day; events-crowd.test.ts then runs random ones. */
const LARGE: readonly Shown[] = [
  {
    claim: 'as the wait opens and the run is cancelled',
    runs: 1,
    parts: [drive(0), cancel(0), send('e')],
    states: 8500,
    everyState: 8500,
    ends: ['e 0', 'e 1'],
  },
];

describe('an event delivered at any moment is never lost and never received twice, and its sender gets a true answer:', () => {
  test.each(EVERY_ORDER ? [...RACES, ...LARGE] : RACES)(
    '$claim',
    async ({ claim: _, ends, states, everyState, lostAnswers = 0, everyday, ...race }) => {
      const seen = new Set<string>();
      const size = EVERY_ORDER ? { lostAnswers } : { lostAnswers: 0, ...everyday };
      const found = await explore(eventRace({ ...race, ...size, onEnd: (end) => seen.add(end) }));
      expect(found.states).toBeGreaterThan(EVERY_ORDER ? everyState : states);
      expect([...seen].sort()).toEqual([...ends]);
    },
    PATIENCE_MS,
  );
});
