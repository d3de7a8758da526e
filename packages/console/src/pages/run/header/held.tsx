/** Says that a run is kept from being deleted, by whom and why. */
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { useRetention } from '../actions/use-hold.ts';

export function Held({ id }: { readonly id: string }) {
  const hold = useRetention(id)?.legalHold;
  if (!hold) return null;
  return (
    <span className="held">
      On legal hold by <Text value={hold.by} max={80} /> <When at={hold.at} />:{' '}
      <Text value={hold.reason} max={120} />
    </span>
  );
}
