/** The page's beginning: styles, the session, and the first drawing. */
// Before the pages, whose own rules come after these.
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
