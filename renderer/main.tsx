import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createEngineClient } from './stores/engine-store.ts';
import { openTransport } from './transport/open.ts';
import './styles/app.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');

createRoot(root).render(
  <StrictMode>
    <App client={createEngineClient(openTransport())} />
  </StrictMode>,
);
