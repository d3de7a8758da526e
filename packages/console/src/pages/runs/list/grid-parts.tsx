/**
 * What the list is made of, for who does not see it: said by role, since a table of HTML cannot leave out the rows that are far
 * away. The focus is the grid's, which names the row that is meant: rows leave the page.
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
