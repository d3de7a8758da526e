/** Problems of a run and the changes of a repair, as operators see them. */

import { comparableText, differing } from '../../core/integrity/differing.ts';
import type { PlaceChange, RepairChange } from '../../core/integrity/plan.ts';
import { PROBLEMS } from '../../core/integrity/problem-table.ts';
import type { ConsistencyProblem } from '../../core/integrity/problems.ts';
import { iso } from '../../core/run/readable.ts';
import { cut } from '../../core/run/records.ts';
import { type ConsistencyReport, consistencyStatusOf } from '../../operations/integrity/check.ts';
import type { RepairReport } from '../../operations/integrity/repair.ts';
import type { View } from './run.ts';

/** Problems and changes in one response; a run of thousands of steps may have as many. `more` counts the rest. */
const MAX_SHOWN = 200;
/** Most characters of a value shown before and after a change. */
const SHOWN_CHARS = 120;

export function consistencyView({ runId, checkedAt, head, problems, unread }: ConsistencyReport): View {
  return {
    runId,
    checkedAt: iso(checkedAt),
    verdict: consistencyStatusOf(problems),
    head,
    problems: problems.slice(0, MAX_SHOWN).map(problemView),
    ...moreOf(problems.length),
    unread: unread.slice(0, MAX_SHOWN).map((id) => `checkpoints/${id}`),
  };
}

export function repairView(runId: string, report: RepairReport): View {
  const { outcome, changes, places, refused, events } = report;
  const all = [...changes.map(changeView), ...places.map(placeView)];
  return {
    runId,
    outcome,
    changes: all.slice(0, MAX_SHOWN),
    ...moreOf(all.length),
    refused: refused.slice(0, MAX_SHOWN).map(problemView),
    events: [...events],
  };
}

function problemView({ code, severity, healable, subject, evidence }: ConsistencyProblem): View {
  const { title, help } = PROBLEMS[code];
  return { code, severity, healable, subject, title, help, evidence };
}

function changeView(change: RepairChange): View {
  const { subject, fixes, seen, before, after } = change;
  const action = after === undefined ? 'delete' : seen === undefined ? 'create' : 'replace';
  // The found checkpoint has no output, which is compared by hash only.
  const found =
    change.kind === 'checkpoint' ? (before as { checkpoint?: object } | undefined)?.checkpoint : before;
  const members = found && after ? differing(found, after) : [];
  return {
    subject,
    action,
    fixes: [...fixes],
    differences:
      members.length > 0 && found && after
        ? members.map((member) => differenceView(member, found, after))
        : undefined,
  };
}

function differenceView(member: string, before: object, after: object): View {
  return { member, ...shown('before', before, member), ...shown('after', after, member) };
}

function shown(side: string, of: object, member: string): View {
  const value = (of as Record<string, unknown>)[member];
  return value === undefined ? {} : { [side]: cut(comparableText(value), SHOWN_CHARS) };
}

function placeView({ kind, subject, fixes, waitId }: PlaceChange): View {
  return { subject, action: kind, fixes: [...fixes], waitId };
}

function moreOf(count: number): View {
  return count > MAX_SHOWN ? { more: count - MAX_SHOWN } : {};
}
