import { describe, expect, test } from '@jest/globals';
import { explore } from '../../support/explorer.ts';
import { type EventRace, eventRace } from '../../support/race/event-race.ts';
import { EVERY_ORDER } from '../../support/race/size.ts';

const drive = (run: number) => ({ does: 'drive', run }) as const;
const cancel = (run: number) => ({ does: 'cancel', run }) as const;
const send = (eventId: string) => ({ does: 'send', eventId }) as const;

/** Ten seconds of a quiet core each, if all is explored; a busy machine takes longer, and is not wrong for that. */
const PATIENCE_MS = 240_000;

interface Shown extends EventRace {
  readonly claim: string;
  /** Every way it can end: for each event, how many runs took it in. */
  readonly ends: readonly string[];
  /** A smaller number means that something is no longer explored; without faults of the network, that is. */
  readonly states: number;
  /** Differs without `EVERY_ORDER=1`. */
  readonly everyday?: Pick<EventRace, 'parts' | 'crashes'>;
  /** Number of states of every order, with the lost responses. */
  readonly everyState: number;
}

/** Without `EVERY_ORDER=1` no answer is lost in them: events-crowd.test.ts loses some, in orders drawn. */
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
    // With a drive among them they are drawn in events-crowd.test.ts.
    everyday: { parts: [cancel(0), send('e')], crashes: 1 },
    lostAnswers: 1,
    states: 85,
    everyState: 6000,
    ends: ['e 0', 'e 1'],
  },
];

/** Too many orders for every day; the crowd is drawn from them then. */
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
