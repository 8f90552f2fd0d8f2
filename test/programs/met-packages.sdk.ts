/** That the tests beside this one meet the packages they are to be run against, and not those of node_modules. */
import * as anthropic from '@ai-sdk/anthropic';
import * as openai from '@ai-sdk/openai';
import * as compatible from '@ai-sdk/openai-compatible';
import { expect, inject, it } from 'vitest';

it('the packages are those that are pinned', () => {
  expect({
    '@ai-sdk/anthropic': anthropic.VERSION,
    '@ai-sdk/openai': openai.VERSION,
    '@ai-sdk/openai-compatible': compatible.VERSION,
  }).toEqual(inject('packages'));
});
