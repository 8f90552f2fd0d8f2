/** What real agents and this backend have told each other once, told again without the agents. */
import { describe, expect, it } from 'vitest';
import { ACP_SCENES, playAcpScene } from '../../programs/acp-scenes.ts';
import { ACP_PROGRAMS } from '../../programs/acp-stage.ts';

describe.each(ACP_PROGRAMS)('%s', (program) => {
  it.each(ACP_SCENES)('comes to what is recorded: $name', async (scene) => {
    await expect(playAcpScene(program, scene, { isReplayed: true })).resolves.toBeUndefined();
  });
});
