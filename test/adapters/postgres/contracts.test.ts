/** PostgreSQL gives what every store, every index of what is due and every giver of the right to wake gives. */
import { emptyStores } from './empty-stores.ts';
import { describeThreeContracts } from './three-contracts.ts';

describeThreeContracts('PostgreSQL', emptyStores());
