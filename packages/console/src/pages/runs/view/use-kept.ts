/** Settings of the list kept in this browser: row height and saved views. */
import { useCallback, useState } from 'react';
import { type SavedView, viewsIn } from './saved-views.ts';

const DENSITY = 'cairn.rows';
const VIEWS = 'cairn.views';

export type Density = 'roomy' | 'compact';

export function useDensity(): readonly [Density, (density: Density) => void] {
  const [density, setDensity] = useState<Density>(() =>
    localStorage.getItem(DENSITY) === 'compact' ? 'compact' : 'roomy',
  );
  const keep = useCallback((wanted: Density) => {
    localStorage.setItem(DENSITY, wanted);
    setDensity(wanted);
  }, []);
  return [density, keep];
}

export function useSavedViews(): readonly [readonly SavedView[], (views: readonly SavedView[]) => void] {
  const [views, setViews] = useState(() => viewsIn(localStorage.getItem(VIEWS)));
  const keep = useCallback((wanted: readonly SavedView[]) => {
    localStorage.setItem(VIEWS, JSON.stringify(wanted));
    setViews(wanted);
  }, []);
  return [views, keep];
}
