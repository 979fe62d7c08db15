import math

import torch
import torch.nn as nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, hidden_size=8, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.head_size = hidden_size // num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask):
        # attention_mask: (batch, seq), 1 = token, 0 = padding
        b, t, _ = hidden_states.shape
        shape = (b, t, self.num_heads, self.head_size)
        q = self.query(hidden_states).view(shape).permute(0, 2, 1, 3)
        k = self.key(hidden_states).view(shape).permute(0, 2, 1, 3)
        v = self.value(hidden_states).view(shape).permute(0, 2, 1, 3)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_size)
        scores = scores.masked_fill(attention_mask[:, None, :, None] == 0, -10000.0)
        probs = nn.functional.softmax(scores, dim=-1)
        out = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous().view(b, t, -1)
        return self.dense(out)
