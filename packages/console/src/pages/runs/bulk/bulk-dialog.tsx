/** Changes many runs: lists those that change and those that do not with the reason, then the outcome of each. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Copyable } from '../../../parts/commands.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { Failure } from '../../../parts/states.tsx';
import { duration } from '../../../parts/time.ts';
import { Text } from '../../../parts/value-text.tsx';
import { StopNote } from '../../workflows/stop-note.tsx';
import type { RunListFilter } from '../filter/filter.ts';
import type { Selection } from '../selection.ts';
import { cliBulk, curlBulk } from './commands.ts';
import { type BulkMode, meantText, VERBS } from './plan.ts';
import { TargetTable } from './target-table.tsx';
import { type Bulk, hitBy, useBulk } from './use-bulk.ts';
import { EFFECTS, LEFT_OUT, progressText, submitText } from './words.ts';
import './bulk.css';

interface BulkDialogProps {
  readonly mode: BulkMode;
  /** The selected runs, or the filter whose runs change. */
  readonly of: Selection | RunListFilter;
  /** The same in words, as the beginning of a sentence. */
  readonly what: string;
  /** @param hasChanged something was sent */
  onClose(hasChanged: boolean): void;
}

/** Limit of the API. */
const MAX_REASON = 1_000;

export function BulkDialog({ mode, of, what, onClose }: BulkDialogProps) {
  const bulk = useBulk(mode, of);
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const why = reason.trim() || undefined;
  const included = bulk.targets.filter(({ decision }) => decision?.isIncluded);
  const done = included.filter(({ sent }) => sent?.at === 'done').length;
  const hasBegun = bulk.stage === 'sending' || bulk.stage === 'over';
  /** No run changes, so that a reason would be lost. */
  const isIdle = bulk.stage === 'ready' && included.length === 0;
  const isDone = bulk.stage === 'over' && done === included.length;
  const close = () => {
    // While it sends, the first attempt to close only stops it, so that the outcomes are seen.
    if (bulk.stage === 'sending') return bulk.stop();
    if (hasBegun) void queries.invalidateQueries();
    onClose(hasBegun);
  };
  const verb = VERBS[mode];
  const change = { mode, runs: hitBy(bulk.targets), batch: bulk.batch, reason: why };
  const description = of instanceof Map ? undefined : meantText(mode, of as RunListFilter);
  return (
    <Dialog title={`${verb} runs`} onClose={close} isSent={hasBegun}>
      <form
        className="bulk"
        onSubmit={(event) => {
          event.preventDefault();
          if (included.length > 0) bulk.send(why);
        }}
      >
        <p>
          <Text value={what} />
          {description !== undefined && `: only ${description}`}. {EFFECTS[mode]}{' '}
          {bulk.leftOut && LEFT_OUT[bulk.leftOut]}
        </p>
        <Progress mode={mode} bulk={bulk} included={included.length} done={done} />
        {bulk.error !== undefined && <Failure error={bulk.error} />}
        {(mode === 'resume' || mode === 'replay') && !hasBegun && (
          <StopNote types={included.map(({ row }) => row.type)} />
        )}
        <TargetTable mode={mode} targets={bulk.targets} isSent={hasBegun} />
        {(mode === 'cancel' || mode === 'approve') && !isIdle && (
          <label>
            {mode === 'cancel' ? 'Reason' : 'Note'} (optional; recorded in each run)
            <input
              value={reason}
              maxLength={MAX_REASON}
              disabled={hasBegun}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
        )}
        {included.length > 0 && (
          <details className="commands">
            <summary>As a command</summary>
            <Copyable label="curl" text={curlBulk(change, window.location.origin)} />
            <Copyable label="cairn" text={cliBulk(change)} />
          </details>
        )}
        <footer>
          {bulk.stage === 'sending' ? (
            <button type="button" onClick={bulk.stop}>
              Stop
            </button>
          ) : (
            <button type="button" onClick={close} ref={isDone ? focus : undefined}>
              Close
            </button>
          )}
          {!isDone && (
            <button
              type="submit"
              className={mode === 'cancel' ? 'danger' : 'primary'}
              disabled={included.length === done || (bulk.stage !== 'ready' && bulk.stage !== 'over')}
            >
              {submitText(verb, {
                included: included.length,
                left: bulk.stage === 'over' ? included.length - done : 0,
              })}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}

/** Moves the focus to the button, because the button that had it has disappeared. */
function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}

interface ProgressProps {
  readonly mode: BulkMode;
  readonly bulk: Bulk;
  readonly included: number;
  readonly done: number;
}

function Progress({ mode, bulk: { stage, targets, pausedMs }, included, done }: ProgressProps) {
  const checked = targets.filter(({ decision }) => decision).length;
  const failed = targets.filter(({ sent }) => sent?.at === 'failed').length;
  const pause = pausedMs === undefined ? '' : ` The API asks for a pause of ${duration(pausedMs)}.`;
  return (
    <div role="status" aria-live="polite" className="bulk-progress">
      {progressText(mode, stage, { targets: targets.length, checked, included, done, failed })}
      {pause}
      {stage === 'checking' && <progress value={checked} max={targets.length} aria-label="Checked" />}
      {stage === 'sending' && <progress value={done + failed} max={included} aria-label="Sent" />}
    </div>
  );
}
