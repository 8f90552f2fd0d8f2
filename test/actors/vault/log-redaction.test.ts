/** What no log may keep is taken out of every event, whoever appends it and whatever it was given. */
import { afterEach, describe, expect, it } from 'vitest';
import { createLogRedaction } from '../../../src/actors/vault/log-redaction.ts';
import type { SessionVaults } from '../../../src/actors/vault/open-vaults.ts';
import { HOST_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import { vaultsWith } from '../../support/vault-setup.ts';

const told: SessionEventDraft = {
  type: 'session.child_idle',
  data: {
    childSessionId: 'c',
    agentId: 'b',
    turn: 1,
    reason: 'idle',
    summary: 'It is token-value-77.',
    used: { tokens: 0, cost: 0 },
  },
};
const said: SessionEventDraft = { type: 'user.message', data: { text: 'It is token-value-77.', delivery: 'queue' } };
const state = { ...initialSessionState({ sessionId: 's', agentId: 'a' }), environmentId: 'vaulted' };

let checkedUp: string[] = [];

function redactionOver(vaults: SessionVaults) {
  const get = async (environmentId: string) => {
    checkedUp.push(environmentId);
    if (environmentId === 'broken') throw new Error('unreadable');
    return { ...HOST_ENVIRONMENT, environmentId, vaults: environmentId === 'vaulted' ? ['v'] : [] };
  };
  return createLogRedaction({ catalog: { get }, vaults });
}

afterEach(() => {
  checkedUp = [];
});

describe('an event on its way into a log', () => {
  it('loses every secret that was opened here for any session', async () => {
    const vaults = vaultsWith({ v: { token: { value: 'token-value-77' } } });
    const redaction = redactionOver(vaults);
    expect(redaction.drafts([said])).toEqual([said]);
    await vaults.open({ sessionId: 'another', agentId: 'z' }, ['v']);
    expect(redaction.drafts([said])[0]?.data).toMatchObject({ text: 'It is [redacted v/token].' });
    expect(redaction.lookUp([said], state)).toBeUndefined();
  });

  it('that another session has said loses those of the session that hears it, in a process that has opened none', async () => {
    const redaction = redactionOver(vaultsWith({ v: { token: { value: 'token-value-77' } } }));
    await redaction.lookUp([told], state);
    expect(redaction.drafts([told])[0]?.data).toMatchObject({ summary: 'It is [redacted v/token].' });
    expect(redaction.lookUp([told], state)).toBeUndefined();
    expect(checkedUp).toEqual(['vaulted']);
  });

  it('is stored also where an environment cannot be read, and that is tried again', async () => {
    const redaction = redactionOver(vaultsWith({}));
    const broken = { ...state, environmentId: 'broken' };
    await redaction.lookUp([told], broken);
    expect(redaction.drafts([told])).toEqual([told]);
    expect(redaction.lookUp([told], broken)).toBeInstanceOf(Promise);
  });
});
