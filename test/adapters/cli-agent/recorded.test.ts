/** What real programs and this backend have told each other once, told again without the programs. */
import { expect, it } from 'vitest';
import { CLAUDE_SCENES, playScene } from '../../programs/claude-scenes.ts';

it.each(CLAUDE_SCENES)('Claude Code comes to what is recorded: $name', async (scene) => {
  await expect(playScene(scene, { isReplayed: true })).resolves.toBeUndefined();
});
