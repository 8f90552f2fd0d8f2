/** The gate before what all sessions of an agent share: what opens it, and that nothing goes round it. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PromotionPermit, promotionProblem, requirePromotion } from '../../../src/actors/outcome/promotion-gate.ts';
import { checkedFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { environmentFile } from '../../../src/machines/environment/environment-definition.ts';
import {
  outcomeDefineDefinition,
  outcomeEvaluateDefinition,
  outcomeGradeDefinition,
} from '../../../src/machines/outcome/outcome-definitions.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { directive } from '../../../src/machines/wake/directive.ts';
import { IDENTITY, SESSION_ID, idOf } from '../../support/session-events.ts';

const passed: SessionState = {
  ...initialSessionState(IDENTITY),
  outcome: { title: 'It works.', seq: 3, by: 'person' },
  changedAtSeq: 5,
  evaluation: { verdict: 'pass', because: 'It does.', throughSeq: 7, seq: 9 },
};

describe('the gate', () => {
  it('opens for an outcome that was evaluated as reached, as long as nothing was changed', () => {
    expect(requirePromotion(passed)).toMatchObject({ sessionId: SESSION_ID, evaluationSeq: 9 });
  });

  it.each<[string, Partial<SessionState>]>([
    ['no outcome', { outcome: undefined }],
    ['no evaluation', { evaluation: undefined }],
    ['an outcome that came after the evaluation', { outcome: { title: 'x', seq: 10, by: 'person' } }],
    ['an outcome that came while it was evaluated', { outcome: { title: 'x', seq: 8, by: 'person' } }],
    ['a change after what was checked', { changedAtSeq: 8 }],
    ['a change after the evaluation', { changedAtSeq: 10 }],
    ...(['fail', 'uncertain', 'not_ready'] as const).map((verdict): [string, Partial<SessionState>] => [
      `a verdict of ${verdict}`,
      { evaluation: { verdict, because: 'x', throughSeq: 7, seq: 9 } },
    ]),
  ])('stays shut with %s', (_what, change) => {
    const state = { ...passed, ...change };
    expect(promotionProblem(state)).toBeTypeOf('string');
    expect(() => requirePromotion(state)).toThrow(
      expect.objectContaining({ code: 'PROMOTION_REFUSED', category: 'permission' }),
    );
  });

  it('gives permits that nobody can make, take for another session or change', () => {
    const permit = requirePromotion(passed);
    expect(() => PromotionPermit.check(permit, SESSION_ID)).not.toThrow();
    expect(() => PromotionPermit.check(permit, idOf(9))).toThrow(`expected a permit for session ${idOf(9)}`);
    const forged: unknown[] = [
      { sessionId: SESSION_ID, evaluationSeq: 9 },
      Object.assign({}, permit),
      Object.create(PromotionPermit.prototype),
      structuredClone(permit),
      null,
      undefined,
      'permit',
      new Proxy(permit, {}),
    ];
    for (const each of forged)
      expect(() => PromotionPermit.check(each as PromotionPermit, SESSION_ID)).toThrow(
        'expected a permit of the promotion gate',
      );
    expect(() =>
      Reflect.construct(PromotionPermit, [Symbol('made by the gate'), { sessionId: SESSION_ID, evaluationSeq: 9 }]),
    ).toThrow('expected a permit of the promotion gate');
    expect(Reflect.set(permit, 'sessionId', idOf(9))).toBe(false);
    // @ts-expect-error What merely looks like a permit is none for the compiler either.
    const looksLikeOne: PromotionPermit = { sessionId: SESSION_ID, evaluationSeq: 9 };
    expect(() => PromotionPermit.check(looksLikeOne, SESSION_ID)).toThrow('expected a permit of the promotion gate');
  });

  it.each(['promotion', 'promotionGate', 'requireOutcome', 'gate', 'skipEvaluation', 'force'])(
    'has no switch "%s" in agents, environments, directives or tools',
    (key) => {
      expect(checkedFrontmatter.safeParse({ name: 'x', provider: 'script', model: 'm', [key]: 'off' }).success).toBe(
        false,
      );
      expect(environmentFile.safeParse({ sandbox: 'off', [key]: 'off' }).success).toBe(false);
      expect(environmentFile.safeParse({ sandbox: 'off', evaluation: { [key]: 'off' } }).success).toBe(false);
      expect(directive.safeParse({ outcome: 'sleep', summary: 'x', [key]: 'off' }).success).toBe(false);
      for (const { inputSchema } of [outcomeDefineDefinition, outcomeEvaluateDefinition, outcomeGradeDefinition])
        expect(inputSchema.safeParse({ title: 'x', [key]: 'off' }).success).toBe(false);
    },
  );

  it('stands before everything that says in the log that it has promoted', async () => {
    const source = fileURLToPath(new URL('../../../src', import.meta.url));
    const files = (await readdir(source, { recursive: true })).filter(
      (name) => name.endsWith('.ts') && !name.startsWith('testing'),
    );
    const texts = await Promise.all(
      files.map(async (name) => ({ name, text: await readFile(join(source, name), 'utf8') })),
    );
    const promoting = texts.filter(({ text }) => /type: '(?:memory|files)\.promoted'/.test(text));
    expect(
      promoting.filter(({ text }) => !/\b(?:PromotionPermit|requirePromotion)\b/.test(text)).map(({ name }) => name),
    ).toEqual([]);
    expect(texts.filter(({ text }) => text.includes('new PromotionPermit(')).map(({ name }) => name)).toEqual([
      join('actors', 'outcome', 'promotion-gate.ts'),
    ]);
    expect(
      texts.filter(({ text }) => /as (?:unknown as )?PromotionPermit\b/.test(text)).map(({ name }) => name),
    ).toEqual([]);
  });
});
