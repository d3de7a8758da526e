/** The tab of external calls: the rows of the ledger, their outcomes, and the resolution of those in doubt. */
import { attemptKey } from '@cairn/client';
import { useMemo } from 'react';
import { Empty, Failure, Loading } from '../../../parts/states.tsx';
import { RowTable } from '../../../parts/tables/row-table.tsx';
import { usePages } from '../../../parts/use-pages.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { useSession } from '../../../session/session.ts';
import { useQueryState } from '../../../shell/address.ts';
import { useRunData } from '../live/run-data.ts';
import { EffectDetail } from './effect-detail.tsx';
import { countWords, type Effect, type EffectRunFacts, effectFacts, effectWords } from './words.ts';
import './effects.css';

const PAGE = '100';
const COLUMNS = ['Action', 'Status', 'Step', 'Request', 'When'];
/** Characters of a request or result in a row. */
const VALUE_CHARS = 160;

export function EffectsTab() {
  const { id, run, isOver, head } = useRunData();
  const { api } = useSession();
  const [chosen, choose] = useQueryState('effect');
  const pages = usePages({
    queryKey: ['run', id, 'effects'],
    read: (cursor, signal) =>
      api.get('/v1/runs/{id}/effects', {
        params: { id },
        query: { limit: PAGE, cursor },
        signal,
      }),
    version: head,
  });
  const facts = useMemo(() => effectFacts(run, isOver), [run, isOver]);
  const { items } = pages;
  if (pages.isFirstLoading) return <Loading what="the effects" />;
  if (pages.error && items.length === 0) return <Failure error={pages.error} again={pages.again} />;
  if (items.length === 0) {
    return (
      <Empty title="The run called no external system">
        <p>What a step does through a capability is listed here, with its request and its result.</p>
      </Empty>
    );
  }
  return (
    <div className="stack">
      <p className="effect-counts" role="status">
        {countWords(items, facts)
          .map(([words, count]) => `${count} ${words}`)
          .join(' · ')}
        {pages.hasMore && ' · more are loaded as you scroll'}
      </p>
      {pages.error !== null && <Failure error={pages.error} again={pages.again} />}
      <RowTable
        label="Effects, in their order"
        className="effect-table"
        columns={COLUMNS}
        rows={items}
        keyOf={({ effectId }) => effectId}
        cellsOf={(effect) => cellsOf(effect, facts)}
        wholeOf={(effect) => <EffectDetail effect={effect} all={items} facts={facts} />}
        chosen={chosen}
        onChoose={(effectId) => choose(effectId, 'replace')}
        onNearEnd={pages.loadMore}
      />
    </div>
  );
}

function cellsOf(effect: Effect, facts: EffectRunFacts) {
  const { tone, mark, words } = effectWords(effect, facts);
  return [
    <bdi key="action">{visibleText(effect.capabilityId)}</bdi>,
    <span key="state" className={`status ${tone}`} data-effect={words}>
      <span aria-hidden="true">{mark}</span> {words}
    </span>,
    <bdi key="step">{visibleText(attemptKey(effect))}</bdi>,
    <bdi key="request" className="dim mono">
      {effect.request === undefined ? '' : visibleText(shortened(effect.request))}
    </bdi>,
    <span key="when" className="dim">
      <When at={effect.updatedAt} />
    </span>,
  ];
}

function shortened(value: unknown): string {
  return JSON.stringify(value).slice(0, VALUE_CHARS);
}
