// The page of a run. It shows what it receives and sends which of its buttons was pressed.
import type { RunPageMemory, RunPageRequest, RunPageState } from '../../src/ui/runs/protocol.ts';
import { Client } from '../shared/client.ts';
import { showDocument } from '../shared/document.ts';
import { drawPage } from './draw.ts';

showDocument(
  new Client<{ message: RunPageState; request: RunPageRequest; memory: RunPageMemory }>(),
  drawPage,
);
