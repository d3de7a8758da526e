/** The items of a set that need attention, with a link to all of them. */
import { useMemo } from 'react';
import { Status } from '../../../parts/status.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { ViewLink } from '../header/view-link.tsx';
import { type GraphStepState, stepIdOf } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { itemStatus } from './step-view.ts';

/** The others are in the table. */
const MOST = 20;

export function ItemList({ id, onSelect }: { readonly id: string; onSelect(key: string): void }) {
  const { steps, undone, isOver } = useRunData();
  const items = useMemo(() => {
    const own = [...steps.values()].filter(({ key }) => key !== id && stepIdOf(key) === id);
    const needsALook = (step: GraphStepState) =>
      step.phase !== 'done' || step.outcome === 'failed' || undone.get(step.key)?.outcome === 'failed';
    return own.filter(needsALook).slice(0, MOST);
  }, [steps, undone, id]);
  return (
    <>
      {items.length > 0 && (
        <ul className="items">
          {items.map((item) => (
            <li key={item.key} className="row">
              <button type="button" className="link" onClick={() => onSelect(item.key)}>
                <bdi>{visibleText(item.key)}</bdi>
              </button>
              <Status status={itemStatus(item, undone.get(item.key), isOver)} />
            </li>
          ))}
        </ul>
      )}
      <p>
        <ViewLink to={{ view: 'table' }}>All in the table</ViewLink>
      </p>
    </>
  );
}
