/** The list with its filters, selection and bulk actions. */
import { useCallback, useId, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { deviceNow } from '../../../api/device-clock.ts';
import { GuardedButton } from '../../../parts/guarded-button.tsx';
import { Failure, Loading, Unreadable } from '../../../parts/states.tsx';
import { useMay, useSession } from '../../../session/session.ts';
import { StartDialog } from '../../workflows/start.tsx';
import { stopWord } from '../../workflows/stop-text.ts';
import { BulkDialog } from '../bulk/bulk-dialog.tsx';
import { BULK_MODES, type BulkMode, VERBS } from '../bulk/plan.ts';
import { LEFT_OUT } from '../bulk/words.ts';
import { Failures } from '../failures.tsx';
import {
  filterOf,
  filterText,
  isFiltered,
  isLive,
  NEWEST_FIRST,
  ORDERS,
  type RunListFilter,
  rangeOf,
  startOf,
  type TimeRange,
} from '../filter/filter.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { NoRuns } from '../no-runs.tsx';
import type { RunRow } from '../row.ts';
import { NONE_CHOSEN, type Selection } from '../selection.ts';
import { Stopped } from '../stopped.tsx';
import { useWorkflows } from '../use-workflows.ts';
import { hiddenIn } from '../view/columns.ts';
import { useDensity } from '../view/use-kept.ts';
import { ViewMenu } from '../view/view-menu.tsx';
import { LiveMark } from './live-mark.tsx';
import { RunGrid } from './run-grid.tsx';
import { useRunList } from './use-run-list.ts';

/** The reason why the buttons for all runs are disabled. */
const SELECTED = 'To change all runs, clear the selection';

interface BulkDialogState {
  readonly mode: BulkMode;
  /** Undefined: all that match. */
  readonly chosen: Selection | undefined;
  /** The filter at the opening of the dialog, because a delayed text field may change the list's filter afterwards. */
  readonly filter: RunListFilter;
}

export function ListView() {
  const search = useSearch();
  const range = rangeOf(search);
  const filter = useFilter(search, range);
  const list = useRunList(filter);
  const [, navigate] = useLocation();
  const [selection, setSelection] = useState<Selection>(NONE_CHOSEN);
  const [doing, setDoing] = useState<BulkDialogState>();
  const [isStarting, setStarting] = useState(false);
  const [density, setDensity] = useDensity();
  const open = useCallback((id: string) => navigate(`/runs/${id}`), [navigate]);
  const isEmpty = !list.isLoading && !list.error && list.sections.total === 0;
  const isRead = isEmpty || list.sections.at(0) !== undefined || Boolean(list.error);
  const { data: workflows } = useWorkflows(isRead);
  const hasSelection = selection.size > 0;
  const whyId = useId();
  return (
    <div className={`runs-page ${density}`}>
      <header className="row runs-head">
        <h1>Runs</h1>
        <div className="list-state">
          <LiveMark stream={list.stream} readAt={list.readAt} again={() => list.reload()} />
          <Stopped type={filter.type} isAsked={isRead} />
          <span className="spring">
            {list.leftOut > 0 && (
              <span className="hint">Counts include child runs; choose them under View</span>
            )}
            {!isEmpty && (
              <span className="hint keys">j k: move · Enter: open · x: select · Shift: range</span>
            )}
          </span>
        </div>
        <ActButtons
          which="matching"
          // They would change more than what is selected.
          unable={hasSelection || isEmpty}
          whyId={hasSelection ? whyId : undefined}
          onAct={act(undefined)}
        />
        <GuardedButton least="submitter" className="primary" onClick={() => setStarting(true)}>
          Start a run
        </GuardedButton>
      </header>
      <FilterBar filter={filter} isListRead={isRead} range={range}>
        <ViewMenu density={density} onDensity={setDensity} />
      </FilterBar>
      {filter.status?.split(',').includes('failed') && isLive(filter) && (
        <Failures filter={filter} span={range.span} />
      )}
      {(list.held > 0 || list.isBehind) && (
        <button type="button" className="new-runs primary" onClick={() => window.scrollTo({ top: 0 })}>
          ↑ {list.isBehind ? 'many' : list.held} new {list.held === 1 ? 'run' : 'runs'}
        </button>
      )}
      {list.error !== undefined && list.error !== null && (
        <Failure error={list.error} again={() => list.again()} />
      )}
      {list.isStopped && <p className="hint">{LEFT_OUT['not read']}</p>}
      <Unreadable ids={list.unreadable} />
      {list.isLoading && <Loading what="the runs" />}
      {isEmpty ? (
        <NoRuns filter={filter} isFiltered={isFiltered(filter)} leftOut={list.leftOut} />
      ) : (
        !list.isLoading && (
          <RunGrid
            list={list}
            order={filter.sort ? ORDERS[filter.sort] : NEWEST_FIRST}
            density={density}
            hidden={hiddenIn(search)}
            stopOf={(type) => workflows && stopWord(workflows, type)}
            selection={selection}
            onSelect={setSelection}
            onOpen={open}
          />
        )
      )}
      {hasSelection && (
        <section className="chosen-bar row" aria-label="Selected runs">
          <strong aria-live="polite">{selection.size} selected</strong>
          <span className="spring">
            <span id={whyId} className="hint why-not-all">
              {SELECTED}
            </span>
          </span>
          <ActButtons which="chosen" onAct={act(selection)} />
          <button type="button" onClick={() => setSelection(NONE_CHOSEN)}>
            Clear selection
          </button>
        </section>
      )}
      {isStarting && <StartDialog onClose={() => setStarting(false)} />}
      {doing && (
        <BulkDialog
          mode={doing.mode}
          of={doing.chosen ?? doing.filter}
          what={
            doing.chosen
              ? selectedText(doing.chosen.size)
              : `All ${filterText({ ...doing.filter, sort: undefined })}`
          }
          onClose={(hasChanged) => {
            setDoing(undefined);
            if (!hasChanged) return;
            setSelection(NONE_CHOSEN);
            list.reload();
          }}
        />
      )}
    </div>
  );

  /** Updates the selected runs, whose status may have changed since. */
  function asShown(chosen: Selection): Selection {
    const now = (row: RunRow) => list.sections.at(list.sections.indexOf(row.id)) ?? row;
    return new Map([...chosen].map(([id, row]) => [id, now(row)]));
  }

  function act(chosen: Selection | undefined) {
    return (mode: BulkMode) => setDoing({ mode, chosen: chosen && asShown(chosen), filter });
  }
}

/** The filter of the address. It stays the same object while its members are equal. */
function useFilter(search: string, { span, since, until }: TimeRange): RunListFilter {
  const { api } = useSession();
  const members = JSON.stringify(filterOf(search));
  return useMemo(
    () => ({
      ...(JSON.parse(members) as RunListFilter),
      since: span === undefined ? since : startOf(span, deviceNow() + api.reach.shown().clockOffsetMs),
      until,
    }),
    [members, span, since, until, api],
  );
}

function selectedText(count: number): string {
  return count === 1 ? 'The selected run' : `The ${count} selected runs`;
}

interface ActButtonsProps {
  readonly which: 'chosen' | 'matching';
  readonly unable?: boolean;
  /** Id of the text with the reason. */
  readonly whyId?: string | undefined;
  onAct(mode: BulkMode): void;
}

/** The buttons. If the role does not allow them, a text says so, not only a tooltip. */
function ActButtons({ which, unable = false, whyId, onAct }: ActButtonsProps) {
  const mayAct = useMay('operator');
  const why = mayAct ? undefined : 'Requires the role operator';
  const word = which === 'chosen' ? '' : ' all';
  return (
    <>
      {why !== undefined && <span className="hint">{why}</span>}
      {BULK_MODES.map((mode) => (
        <button
          key={mode}
          type="button"
          title={why}
          aria-describedby={whyId}
          className={mode === 'cancel' ? 'quiet-danger' : undefined}
          disabled={!mayAct || unable}
          onClick={() => onAct(mode)}
        >
          {VERBS[mode]}
          {word}…
        </button>
      ))}
    </>
  );
}
