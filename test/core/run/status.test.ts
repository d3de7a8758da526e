import { describe, expect, test } from '@jest/globals';
import { CairnError, type ErrorCode } from '../../../packages/cairn/src/core/errors.ts';
import {
  assertTransition,
  isRunStatus,
  isTerminal,
  RUN_STATUSES,
  type RunStatus,
  TRANSITIONS,
} from '../../../packages/cairn/src/core/run/status.ts';

/** Repeats the table on purpose, so that no change is accidental. */
const ALLOWED: Record<RunStatus, string> = {
  pending: 'running cancelled failed',
  running: 'completed failed cancelled awaiting_approval waiting_external replaying interrupted',
  replaying: 'running failed cancelled interrupted',
  awaiting_approval: 'running failed cancelled',
  waiting_external: 'running failed cancelled',
  interrupted: 'running replaying awaiting_approval waiting_external failed cancelled',
  completed: '',
  failed: '',
  cancelled: '',
};

const pairs = RUN_STATUSES.flatMap((from) => RUN_STATUSES.map((to) => ({ from, to })));

function codeOf(from: RunStatus, to: RunStatus): ErrorCode | 'allowed' {
  try {
    assertTransition(from, to);
    return 'allowed';
  } catch (error) {
    if (error instanceof CairnError) return error.code;
    throw error;
  }
}

describe('run status', () => {
  test.each(pairs)('$from -> $to is allowed or refused according to the table', ({ from, to }) => {
    const terminal = ['completed', 'failed', 'cancelled'].includes(from);
    const refused = terminal ? 'RUN_TERMINAL_STATE' : 'RUN_INVALID_TRANSITION';
    expect(codeOf(from, to)).toBe(ALLOWED[from].split(' ').includes(to) ? 'allowed' : refused);
  });

  test('exactly completed, failed and cancelled are terminal', () => {
    expect(RUN_STATUSES.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled']);
  });

  test('every status is reachable from pending, and every status that is not final can become failed or cancelled', () => {
    const reached = new Set<RunStatus>(['pending']);
    for (const status of reached) for (const next of TRANSITIONS[status]) reached.add(next);
    expect([...reached].sort()).toEqual([...RUN_STATUSES].sort());
    for (const status of RUN_STATUSES.filter((each) => !isTerminal(each))) {
      expect(TRANSITIONS[status]).toEqual(expect.arrayContaining(['failed', 'cancelled']));
    }
  });

  test('a refusal names both statuses', () => {
    expect(() => assertTransition('completed', 'running')).toThrow(/completed.*running/);
    expect(() => assertTransition('pending', 'completed')).toThrow(/pending.*completed/);
  });

  test('unknown words are not statuses', () => {
    expect(['running', 'canceled', 'done', '', 'constructor'].filter(isRunStatus)).toEqual(['running']);
  });
});
