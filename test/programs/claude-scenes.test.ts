import { expect, it } from 'vitest';
import { CLAUDE_SCENES, playScene } from './claude-scenes.ts';
import { describeProgram } from './programs.ts';

describeProgram('claude', () => {
  it.each(CLAUDE_SCENES)('comes to what is recorded: $name', async (scene) => {
    await expect(playScene(scene, { isReplayed: false })).resolves.toBeUndefined();
  });
});
