import { describe, expect, it } from 'vitest';
import { ACP_SCENES, playAcpScene } from './acp-scenes.ts';
import { ACP_PROGRAMS } from './acp-stage.ts';
import { describeProgram } from './programs.ts';

describe.each(ACP_PROGRAMS)('%s', (program) => {
  describeProgram(program, () => {
    it.each(ACP_SCENES)('comes to what is recorded: $name', async (scene) => {
      await expect(playAcpScene(program, scene, { isReplayed: false })).resolves.toBeUndefined();
    });
  });
});
