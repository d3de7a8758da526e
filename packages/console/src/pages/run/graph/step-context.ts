/** React context of the steps of a graph, because React Flow passes no other props. */
import { createContext, useContext } from 'react';
import type { StepView } from './step-view.ts';

export interface StepsShown {
  view(id: string): StepView | undefined;
  /** The step that arrow keys start from, and the only one in the Tab order. */
  readonly active: string | undefined;
  readonly selected: string | undefined;
  /** True if the step must take the focus as soon as it is drawn. */
  takesFocus(id: string): boolean;
  select(id: string): void;
}

export const StepsContext = createContext<StepsShown | undefined>(undefined);

export function useSteps(): StepsShown {
  const steps = useContext(StepsContext);
  if (!steps) throw new Error('this is not within a graph');
  return steps;
}
