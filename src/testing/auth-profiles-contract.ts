/** What every store of accounts does. Each case wants one of its own that is fresh and empty. */
import type { AuthProfiles } from '../actors/run/auth-profiles.ts';
import type { SecretCommandEnd } from '../actors/run/secret-reader.ts';
import { SECRET_KEPT_MS } from '../actors/run/secret-reader.ts';
import type { AuthProfile } from '../machines/run/auth-profile.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectRefusal, expectSame } from './expectations.ts';

export interface AuthProfilesUnderTest {
  readonly profiles: AuthProfiles;
  /** Another one over the same, as another process would have; the same one where there is no other. */
  readonly beside: AuthProfiles;
  /** The variables that both see. */
  readonly environment: Record<string, string | undefined>;
  /** Moves the steady time of both. */
  readonly advance: (durationMs: number) => void;
  /** How the next runs of commands end; the last one ends all that follow. */
  readonly commandEnds: (ends: readonly SecretCommandEnd[]) => void;
  /** The commands that were run. */
  readonly commands: readonly (readonly string[])[];
}

type Case = ContractCase<AuthProfilesUnderTest>;

const WORK: AuthProfile = { id: 'work', provider: 'anthropic', secret: { env: 'WORK_KEY' } };
const HOME: AuthProfile = { id: 'home', provider: 'anthropic', secret: { command: ['keychain', 'get', 'home'] } };
const LOGIN: AuthProfile = {
  id: 'login',
  provider: 'claude-code',
  environment: { CLAUDE_CONFIG_DIR: '/srv/accounts/claude-work' },
};

const printed = (text: string): SecretCommandEnd => ({ kind: 'printed', text });

const keeping: readonly Case[] = [
  {
    name: 'stand in the order in which they were added, for every reader',
    async run({ profiles, beside }) {
      expectSame(await profiles.list(), [], 'the profiles at first');
      for (const profile of [WORK, LOGIN, HOME]) await profiles.add(profile);
      expectSame(await beside.list(), [WORK, LOGIN, HOME], 'the profiles');
      expectSame(await beside.list('anthropic'), [WORK, HOME], 'the profiles of a provider');
      expectSame(await beside.list('openai'), [], 'the profiles of a provider that has none');
    },
  },
  {
    name: 'have each its own name, and make room for another of it when one is removed',
    async run({ profiles, beside }) {
      await profiles.add(WORK);
      await expectRefusal(beside.add({ ...HOME, id: 'work' }), 'AUTH_PROFILE_EXISTS', 'adding a name twice');
      expectSame(await profiles.list(), [WORK], 'the profiles after that');
      expectSame([await beside.remove('work'), await beside.remove('work')], [true, false], 'removing it twice');
      await profiles.add({ ...HOME, id: 'work' });
      expectSame(await beside.list(), [{ ...HOME, id: 'work' }], 'the profiles in the end');
    },
  },
  {
    name: 'are all kept when many are added at once',
    async run({ profiles, beside }) {
      const many = Array.from({ length: 12 }, (_, index): AuthProfile => ({ ...WORK, id: `work-${index}` }));
      await Promise.all(many.map((profile, index) => (index % 2 === 0 ? profiles : beside).add(profile)));
      expectSame(
        (await profiles.list()).map(({ id }) => id).toSorted(),
        many.map(({ id }) => id).toSorted(),
        'the names',
      );
    },
  },
  {
    name: 'are refused when they are not well-formed, or hold a key instead of saying where it is',
    async run({ profiles }) {
      const wrong: readonly unknown[] = [
        { ...WORK, id: 'Work Account' },
        { ...WORK, provider: '' },
        { ...WORK, secret: { env: 'sk-ant-api03-0123456789abcdef' } },
        { ...WORK, secret: { env: 'AIzaSyA0123456789abcdefghij' } },
        { ...WORK, secret: { command: [] } },
        { ...WORK, secret: { command: ['echo', 'sk-proj-0123456789abcdef'] } },
        { ...LOGIN, environment: { 'not a name': 'x' } },
        { ...LOGIN, environment: { OPENAI_API_KEY: 'sk-0123456789abcdef' } },
        { ...WORK, key: 'value' },
      ];
      for (const profile of wrong)
        await expectRefusal(
          profiles.add(profile as AuthProfile),
          'AUTH_PROFILE_INVALID',
          `adding ${JSON.stringify(profile)}`,
        );
      expectSame(await profiles.list(), [], 'the profiles');
    },
  },
];

const opening: readonly Case[] = [
  {
    name: 'are opened by a variable as it is at that moment',
    async run({ profiles, environment }) {
      await profiles.add(WORK);
      await expectRefusal(profiles.credential('work'), 'AUTH_VALUE_MISSING', 'asking while it is not set');
      for (const value of ['first', 'second']) {
        environment['WORK_KEY'] = value;
        expectSame(await profiles.credential('work'), { profileId: 'work', secret: value }, 'the credential');
      }
      environment['WORK_KEY'] = '';
      await expectRefusal(profiles.credential('work'), 'AUTH_VALUE_MISSING', 'asking while it is empty');
    },
  },
  {
    name: 'need no secret where a program has its own login',
    async run({ profiles }) {
      await profiles.add(LOGIN);
      expectSame(
        await profiles.credential('login'),
        { profileId: 'login', environment: LOGIN.environment },
        'the credential',
      );
      await expectRefusal(profiles.credential('nobody'), 'AUTH_PROFILE_NOT_FOUND', 'asking for one that is not there');
    },
  },
  {
    name: 'are opened by a command that is run once for all who ask, and again after five minutes',
    async run({ profiles, commandEnds, commands, advance }) {
      commandEnds([printed('first\n'), printed('second\r\n')]);
      await profiles.add(HOME);
      const secrets = async (): Promise<(string | undefined)[]> =>
        (await Promise.all([1, 2, 3].map(() => profiles.credential('home')))).map(({ secret }) => secret);
      expectSame(await secrets(), ['first', 'first', 'first'], 'the secrets');
      advance(SECRET_KEPT_MS - 1);
      expectSame(await secrets(), ['first', 'first', 'first'], 'the secrets a little later');
      expectSame(commands, [['keychain', 'get', 'home']], 'the commands');
      advance(1);
      expectSame(await secrets(), ['second', 'second', 'second'], 'the secrets after five minutes');
      expectSame(commands.length, 2, 'how many commands were run');
    },
  },
  {
    name: 'are opened anew when the value was refused, or the profile is another now',
    async run({ profiles, commandEnds, commands }) {
      commandEnds([printed('first'), printed('second'), printed('third')]);
      await profiles.add(HOME);
      await profiles.credential('home');
      profiles.forget?.('home');
      expectSame((await profiles.credential('home')).secret, 'second', 'the secret after the first was refused');
      await profiles.remove('home');
      await profiles.add({ ...HOME, secret: { command: ['other'] } });
      expectSame((await profiles.credential('home')).secret, 'third', 'the secret of the other command');
      expectSame(commands.at(-1), ['other'], 'the command');
    },
  },
  {
    name: 'are not opened by a command that fails, says nothing or says too much, and it is asked again',
    async run({ profiles, commandEnds }) {
      await profiles.add(HOME);
      commandEnds([
        { kind: 'failed', because: 'ended with exit code 1' },
        printed('\n'),
        printed('one\ntwo\n'),
        printed('good'),
      ]);
      for (const what of ['fails', 'says nothing', 'says too much'])
        await expectRefusal(profiles.credential('home'), 'AUTH_VALUE_MISSING', `asking when it ${what}`);
      expectSame((await profiles.credential('home')).secret, 'good', 'the secret');
    },
  },
];

export const authProfilesContract: readonly Case[] = named('auth profiles', [...keeping, ...opening]);
