/** The items of a set that are not simply done, and the way to all of them. */
import { useMemo } from 'react';
import { Status } from '../../../parts/status.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { ViewLink } from '../header/view-link.tsx';
import { stepIdOf } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { statusOf } from './step-view.ts';

/** The others are in the table. */
const MOST = 20;

export function ItemList({ id, onSelect }: { readonly id: string; onSelect(key: string): void }) {
  const { steps } = useRunData();
  const items = useMemo(() => {
    const own = [...steps.values()].filter(({ key }) => key !== id && stepIdOf(key) === id);
    return own.filter((step) => step.phase !== 'done' || step.outcome === 'failed').slice(0, MOST);
  }, [steps, id]);
  return (
    <>
      {items.length > 0 && (
        <ul className="items">
          {items.map((item) => (
            <li key={item.key} className="row">
              <button type="button" className="linkish" onClick={() => onSelect(item.key)}>
                <bdi>{visibleText(item.key)}</bdi>
              </button>
              <Status status={statusOf(item)} />
            </li>
          ))}
        </ul>
      )}
      <p>
        <ViewLink to={{ view: 'table' }}>All items in the table</ViewLink>
      </p>
    </>
  );
}
