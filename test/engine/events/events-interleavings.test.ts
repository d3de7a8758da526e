import { describe, expect, test } from '@jest/globals';
import { explore } from '../../support/explorer.ts';
import { type EventRace, eventRace } from '../../support/race/event-race.ts';

const drive = (run: number) => ({ does: 'drive', run }) as const;
const cancel = (run: number) => ({ does: 'cancel', run }) as const;
const send = (eventId: string) => ({ does: 'send', eventId }) as const;

/** Ten seconds of a quiet core for them all; a busy machine takes longer, and is not wrong for that. */
const PATIENCE_MS = 240_000;

interface Shown extends EventRace {
  readonly claim: string;
  /** Every way it can end: for each event, how many runs took it in. */
  readonly ends: readonly string[];
  /** A smaller number means that something is no longer explored. */
  readonly states: number;
}

const RACES: readonly Shown[] = [
  {
    claim: 'as the wait opens',
    runs: 1,
    parts: [drive(0), send('e')],
    crashes: 1,
    lostAnswers: 1,
    states: 7500,
    ends: ['e 1'],
  },
  {
    claim: 'as the wait times out',
    runs: 1,
    before: [drive(0), 'hour'],
    parts: [drive(0), send('e')],
    crashes: 1,
    lostAnswers: 1,
    states: 4800,
    ends: ['e 0', 'e 1'],
  },
  {
    claim: 'as the run is cancelled',
    runs: 1,
    before: [drive(0)],
    parts: [cancel(0), send('e'), drive(0)],
    lostAnswers: 1,
    states: 6000,
    ends: ['e 0', 'e 1'],
  },
  {
    claim: 'as the wait opens and the run is cancelled',
    runs: 1,
    parts: [drive(0), cancel(0), send('e')],
    states: 8500,
    ends: ['e 0', 'e 1'],
  },
];

describe('an event delivered at the very moment is never lost and never taken in twice, and its sender told the truth:', () => {
  test.each(RACES)(
    '$claim',
    async ({ claim: _, ends, states, ...race }) => {
      const seen = new Set<string>();
      const found = await explore(eventRace({ ...race, onEnd: (end) => seen.add(end) }));
      expect(found.states).toBeGreaterThan(states);
      expect([...seen].sort()).toEqual([...ends]);
    },
    PATIENCE_MS,
  );
});
