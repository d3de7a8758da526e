import { describe, expect, test } from '@jest/globals';
import type { MailboxStore } from '../../../packages/cairn/src/ports/mailbox-store.ts';
import type { Execution } from '../../support/explorer.ts';
import { type EventRace, eventRace } from '../../support/race/event-race.ts';
import { EVERY_ORDER } from '../../support/race/size.ts';
import { seededRandomness } from '../../support/world.ts';

const SEEDS = Array.from({ length: EVERY_ORDER ? 250 : 30 }, (_, i) => i + 1);
/** More choices than any of these races has. */
const MAX_CHOICES = 500;

const drive = (run: number) => ({ does: 'drive', run }) as const;
const cancel = (run: number) => ({ does: 'cancel', run }) as const;
const send = (eventId: string) => ({ does: 'send', eventId }) as const;

interface Crowd extends EventRace {
  readonly claim: string;
  /** Every observed end: for each event, the number of runs that received it. */
  readonly ends: readonly string[];
}

const CROWDS: readonly Crowd[] = [
  {
    claim: 'as one wait opens and its run is cancelled',
    runs: 1,
    parts: [drive(0), cancel(0), send('e')],
    ends: ['e 0', 'e 1'],
  },
  {
    claim: 'one that came before is for one of two that begin to wait',
    runs: 2,
    before: [send('e')],
    parts: [drive(0), drive(1)],
    ends: ['e 1'],
  },
  {
    claim: 'one that came before is for the other, if the run that took it out is cancelled',
    runs: 2,
    before: [send('e')],
    parts: [drive(0), cancel(0), drive(1)],
    ends: ['e 1'],
  },
  {
    claim: 'one sent twice, while one run waits, one begins to and one is cancelled',
    runs: 3,
    before: [drive(0), drive(2)],
    parts: [send('e'), drive(1), send('e'), cancel(2)],
    ends: ['e 1', 'e 2', 'e 3'],
  },
  {
    claim: 'two events, two runs that begin to wait, and two drives of one of them',
    runs: 2,
    parts: [drive(0), send('e'), drive(1), send('f'), drive(0)],
    ends: ['e 0,f 2', 'e 1,f 1', 'e 2,f 0'],
  },
  {
    claim: 'as the time of two waits is over',
    runs: 2,
    before: [drive(0), drive(1), 'hour'],
    parts: [drive(0), send('e'), drive(1)],
    ends: ['e 0', 'e 1', 'e 2'],
  },
];

/** Runs one random schedule. */
async function walk(begin: () => Promise<Execution>, seed: number): Promise<void> {
  const random = seededRandomness(seed);
  const execution = await begin();
  const trail: string[] = [];
  try {
    for (let i = 0; i < MAX_CHOICES; i += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      execution.check();
      const choices = execution.choices();
      const choice = choices[Math.floor(random.unit() * choices.length)];
      if (!choice) return await execution.finish();
      trail.push(choice.label);
      choice.take();
    }
    throw new Error('the schedule does not end');
  } catch (error) {
    throw new Error(`seed ${seed}, after [${trail.join(' · ')}]: ${String(error)}`, { cause: error });
  }
}

describe('events and several runs, with real drives, a crash and two lost answers, in random orders:', () => {
  test.each(CROWDS)('$claim', async ({ claim: _, ends, ...race }) => {
    const seen = new Set<string>();
    const begin = eventRace({ ...race, crashes: 1, lostAnswers: 2, onEnd: (end) => seen.add(end) });
    for (const seed of SEEDS) await walk(begin, seed);
    expect([...seen].sort()).toEqual([...ends].sort());
  });
});

describe('a damaged mailbox is detected:', () => {
  const BREACHES: readonly [string, (sound: MailboxStore) => MailboxStore][] = [
    [
      'writes that ignore concurrent ones',
      (sound) => ({
        read: (address) => sound.read(address),
        write: async (address, mailbox) =>
          sound.write(address, mailbox, (await sound.read(address))?.version),
      }),
    ],
    [
      'a store that forgets which runs received an event',
      (sound) => ({
        read: (address) => sound.read(address),
        write: (address, mailbox, seen) =>
          sound.write(address, mailbox && { ...mailbox, delivered: [] }, seen),
      }),
    ],
  ];

  test.each(BREACHES)('%s', async (_, sabotage) => {
    const everywhere = async () => {
      for (const { claim: __, ends: ___, ...race } of CROWDS) {
        const begin = eventRace({ ...race, crashes: 1, lostAnswers: 2, sabotage });
        for (const seed of SEEDS) await walk(begin, seed);
      }
    };
    await expect(everywhere()).rejects.toThrow(/^seed \d+, after/);
  });
});
