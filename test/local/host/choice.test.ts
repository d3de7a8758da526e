/** The choice of a worker for a request. */
import { describe, expect, test } from '@jest/globals';
import {
  chooseWorker,
  type Responsiveness,
  type WorkerFacts,
} from '../../../packages/local/src/host/workers/choice.ts';

const worker = (state: Responsiveness, more: Partial<WorkerFacts> = {}): WorkerFacts => ({
  state,
  hasRoom: true,
  load: 0,
  servesUser: false,
  servesOthers: false,
  servesBlocker: false,
  ...more,
});
const ROLE = { most: 3, growsWhenFull: false, hasSpare: true, isBlocker: false };
const SINGLE = { ...ROLE, growsWhenFull: true };

describe('one of the workers', () => {
  test.each([
    ['the least busy one', ROLE, [worker('responding', { load: 2 }), worker('responding', { load: 1 })], 1],
    ['the first of equals', ROLE, [worker('responding'), worker('responding')], 0],
    ['one that responds', ROLE, [worker('late'), worker('blocked'), worker('responding', { load: 9 })], 2],
    ['one with room', ROLE, [worker('responding', { hasRoom: false }), worker('responding', { load: 9 })], 1],
    ['none while those that respond are full', ROLE, [worker('responding', { hasRoom: false })], 'wait'],
    ['none while one starts', ROLE, [worker('blocked'), worker('starting')], 'wait'],
    ['another if all are blocked', ROLE, [worker('blocked'), worker('blocked')], 'additional'],
    ['a spare if all are late', ROLE, [worker('late')], 'additional'],
    [
      'none if they may only be slow and no spare is ready',
      { ...ROLE, hasSpare: false },
      [worker('late')],
      'wait',
    ],
    ['another without a spare', { ...ROLE, hasSpare: false }, [worker('blocked')], 'additional'],
    ['none beyond the most', ROLE, [worker('blocked'), worker('blocked'), worker('blocked')], 'wait'],
    ['none before the first has been started', ROLE, [], 'wait'],
    ['another for one request each', SINGLE, [worker('responding', { hasRoom: false })], 'additional'],
    ['the first for one request each', SINGLE, [], 'additional'],
    ['none beyond the most of them', { ...SINGLE, most: 1 }, [worker('blocked')], 'wait'],
  ] as const)('%s', (_what, role, workers, choice) => {
    expect(chooseWorker(workers, role)).toBe(choice);
  });
});

describe('a user that blocks workers', () => {
  const mine = { servesUser: true };

  test('leaves the last one to the others', () => {
    const workers = [worker('blocked', mine), worker('late', mine), worker('responding')];
    expect(chooseWorker(workers, ROLE)).toBe('wait');
    expect(chooseWorker([worker('blocked'), worker('late', mine), worker('responding')], ROLE)).toBe(2);
    expect(chooseWorker([worker('responding', mine), worker('late', mine), worker('responding')], ROLE)).toBe(
      0,
    );
  });

  test('leaves two to the others where there are more', () => {
    const more = { ...ROLE, most: 4 };
    expect(chooseWorker([worker('blocked', mine), worker('late', mine)], more)).toBe('wait');
    expect(chooseWorker([worker('blocked', mine), worker('late', mine), worker('responding')], more)).toBe(
      'wait',
    );
    expect(chooseWorker([worker('blocked', mine), worker('late')], more)).toBe('additional');
    expect(chooseWorker([worker('blocked', mine)], { ...more, most: 2 })).toBe('wait');
  });

  test('leaves the last process that may be started to the others', () => {
    expect(chooseWorker([worker('blocked', mine), worker('blocked', mine)], ROLE)).toBe('wait');
    expect(chooseWorker([worker('blocked', mine), worker('blocked')], ROLE)).toBe('additional');
  });

  test('never gets all workers, however its requests and those of others block them', () => {
    const states: Responsiveness[] = ['responding', 'late', 'blocked', 'starting'];
    for (let code = 0; code < 4 ** 3 * 2 ** 3; code += 1) {
      const workers = [0, 1, 2].map((at) =>
        worker(states[(code >> (2 * at)) & 3] ?? 'responding', {
          servesUser: ((code >> (6 + at)) & 1) === 1,
        }),
      );
      const choice = chooseWorker(workers, ROLE);
      if (typeof choice !== 'number') continue;
      expect(workers[choice]?.state).toBe('responding');
      const blocked = workers.map(
        ({ state, servesUser }) => servesUser && state !== 'responding' && state !== 'starting',
      );
      blocked[choice] = true;
      expect(blocked).toContain(false);
    }
  });
});

describe('users that may block workers', () => {
  const BLOCKER = { ...ROLE, isBlocker: true };
  const others = { servesOthers: true };
  const blockers = { servesOthers: true, servesBlocker: true };

  test.each([
    ['have a worker without others', BLOCKER, [worker('responding', others), worker('responding')], 1],
    [
      'stay in their own',
      BLOCKER,
      [worker('blocked', blockers), worker('responding', { servesUser: true })],
      1,
    ],
    ['get another if each has others', BLOCKER, [worker('responding', others)], 'additional'],
    ['leave one to the rest', BLOCKER, [worker('blocked', blockers), worker('blocked', blockers)], 'wait'],
    [
      'leave one to the rest that responds',
      BLOCKER,
      [worker('blocked', blockers), worker('late', blockers), worker('responding')],
      'wait',
    ],
    ['are not joined by the rest', ROLE, [worker('responding', blockers), worker('responding', others)], 1],
    ['make the rest take another', ROLE, [worker('responding', blockers)], 'additional'],
    ['do not matter where there is one worker', { ...BLOCKER, most: 1 }, [worker('responding', blockers)], 0],
    [
      'do not matter to those that serve once',
      { ...SINGLE, isBlocker: true },
      [worker('responding', others)],
      0,
    ],
  ] as const)('%s', (_what, role, workers, choice) => {
    expect(chooseWorker(workers, role)).toBe(choice);
  });
});
