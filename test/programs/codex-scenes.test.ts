import { expect, it } from 'vitest';
import { CODEX_SCENES, playCodexScene } from './codex-scenes.ts';
import { describeProgram } from './programs.ts';

describeProgram('codex', () => {
  it.each(CODEX_SCENES)('comes to what is recorded: $name', async (scene) => {
    await expect(playCodexScene(scene, { isReplayed: false })).resolves.toBeUndefined();
  });
});
