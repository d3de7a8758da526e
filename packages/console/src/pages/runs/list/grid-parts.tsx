/**
 * ARIA roles of the list, because an HTML table cannot leave out rows. The grid keeps the focus and names the active row,
 * because rows out of view are removed from the page.
 */
import type { ComponentProps } from 'react';

export function Grid(props: ComponentProps<'div'>) {
  // biome-ignore lint/a11y/useSemanticElements: see above
  return <div role="grid" tabIndex={0} {...props} />;
}

export function RowGroup(props: ComponentProps<'div'>) {
  // biome-ignore lint/a11y/useSemanticElements: see above
  return <div role="rowgroup" {...props} />;
}

export function Row(props: ComponentProps<'div'>) {
  // biome-ignore lint/a11y/useSemanticElements: see above
  // biome-ignore lint/a11y/useFocusableInteractive: the focus is the grid's
  return <div role="row" {...props} />;
}

export function ColumnHeader(props: ComponentProps<'span'>) {
  // biome-ignore lint/a11y/useSemanticElements: see above
  // biome-ignore lint/a11y/useFocusableInteractive: the focus is the grid's
  return <span role="columnheader" {...props} />;
}

export function Cell(props: ComponentProps<'span'>) {
  // biome-ignore lint/a11y/useSemanticElements: see above
  // biome-ignore lint/a11y/useFocusableInteractive: the focus is the grid's
  return <span role="gridcell" {...props} />;
}
