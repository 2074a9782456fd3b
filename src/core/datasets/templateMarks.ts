/**
 * A text with one of these marks is already wrapped in a chat template, so conversion to chat leaves out its row. Marks that
 * also occur in ordinary texts, such as `</s>`, aren't here. One expression is the fastest way.
 */
export const REFUSED_MARKS = new RegExp(
  [
    String.raw`<\|im_start\|>|<\|start_header_id\|>|\[INST\]|<start_of_turn>|### Response:|\n\nHuman:`,
    // Phi, harmony, Llama 3.
    String.raw`<\|(?:user|end|start|eot_id)\|>`,
    // DeepSeek's bars have full width.
    String.raw`<｜[^｜<>\n]{1,40}｜>`,
    // Cohere.
    String.raw`<\|(?:(?:START|END)_OF_TURN|USER|CHATBOT|SYSTEM)_TOKEN\|>|<\|(?:START|END)_(?:RESPONSE|THINKING|ACTION|TEXT)\|>`,
  ].join('|'),
);
