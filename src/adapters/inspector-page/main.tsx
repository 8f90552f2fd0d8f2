/** Starts the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { keepAddress, readAddress } from './model/address.ts';
import { keepCheckingServer } from './model/server-watch.ts';
import { keepKeys } from './shared/keys.ts';
import 'virtual:diagram.css';
import './styles/tokens.css';
import './styles/layout.css';
import './styles/parts.css';

const place = document.querySelector('#page');
if (place !== null) {
  readAddress(location.hash);
  keepAddress();
  keepCheckingServer();
  keepKeys();
  place.replaceChildren();
  render(<App />, place);
}
