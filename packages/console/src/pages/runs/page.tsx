/** The runs of the tenant: results of a search (`?q=`), or the live list. */
import { useQueryState } from '../../shell/address.ts';
import { ListView } from './list/list-view.tsx';
import './page.css';
import { SearchView } from './search-view.tsx';

export { readAhead } from './list/use-first-page.ts';

export default function RunsPage() {
  const [query] = useQueryState('q');
  return query === undefined ? <ListView /> : <SearchView sought={query} key={query} />;
}
