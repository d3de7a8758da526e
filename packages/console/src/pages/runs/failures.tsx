/** Failures of the listed runs, grouped by cause. Read only when opened, because it costs up to 1,000 reads. */
import { useState } from 'react';
import { useSearch } from 'wouter';
import { Scrolls } from '../../parts/scrolls.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { Causes } from '../../parts/statistics/causes.tsx';
import { useStatistics } from '../../parts/statistics/use-statistics.ts';
import { When } from '../../parts/when.tsx';
import { changedQuery } from '../../shell/query-text.ts';
import { causeQuery, type RunListFilter, type SpanWord, startOf } from './filter/filter.ts';

interface FailuresProps {
  readonly filter: RunListFilter;
  readonly span: SpanWord | undefined;
}

export function Failures({ filter, span }: FailuresProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="failures" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Failures by cause</summary>
      {isOpen && <ByCause filter={filter} span={span} />}
    </details>
  );
}

/** Start of an unlimited span, long before the first run of any installation. */
const EVER = '2020-01-01T00:00:00.000Z';

function ByCause({ filter, span }: FailuresProps) {
  const { since, until } = filter;
  const search = useSearch();
  const { data, error, refetch } = useStatistics(filter, {
    span: span ?? `${since ?? 'ever'} ${until ?? ''}`,
    sinceOf: (now) => (span === undefined ? (since ?? EVER) : startOf(span, now)),
    until,
  });
  if (error && !data) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the failures" />;
  const { total, causes, isCut, from } = data;
  return (
    <>
      <p className="dim">
        {total.failed} of {total.runs.toLocaleString('en')} runs failed
        {isCut && (
          <>
            ; only these, created since <When at={from} />, were read
          </>
        )}
        .
      </p>
      {causes.length > 0 && (
        <Scrolls label="Failures by cause">
          <Causes
            causes={causes}
            withType={filter.type === undefined}
            hrefOf={(cause) => `/runs?${changedQuery(search, causeQuery(cause))}`}
          />
        </Scrolls>
      )}
    </>
  );
}
