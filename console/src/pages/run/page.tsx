/** The page of one run: its header, and below it one of the views that the address names. */
import { useQueryState } from '../../shell/address.ts';
import { RunActions } from './actions/actions.tsx';
import { CheckpointsTab } from './checkpoints/tab.tsx';
import { EffectsTab } from './effects/tab.tsx';
import { JournalTab } from './journal/tab.tsx';
import { RunProvider } from './live/use-run.tsx';

const TABS = {
  overview: { name: 'Overview', Tab: () => null },
  timeline: { name: 'Timeline', Tab: () => null },
  journal: { name: 'Journal', Tab: JournalTab },
  checkpoints: { name: 'Checkpoints', Tab: CheckpointsTab },
  effects: { name: 'Effects', Tab: EffectsTab },
};

export default function RunPage({ id }: { readonly id: string }) {
  const [tab = 'overview'] = useQueryState('tab');
  const { Tab } = TABS[tab as keyof typeof TABS] ?? TABS.overview;
  return (
    <RunProvider id={id}>
      <h1>{id}</h1>
      <RunActions />
      <Tab />
    </RunProvider>
  );
}
